import pytest
import sample
from sluice_bench import record


@pytest.fixture
def saved(tmp_path):
    """Writes a made-up file and returns its path."""

    def save(made, name="made.json"):
        return sample.save(tmp_path / name, made)

    return save


@pytest.fixture
def loaded(saved):
    """Writes a made-up file and reads it as the tool does."""

    def load(made, name="made.json"):
        return record.load(saved(made, name))

    return load
