# The modules that exist, with their level. A module may use every module of a lower level and no
# other; tools/check_sources.py reads this same list and holds the includes to it. A line is
# `sluice_module(<name> LEVEL <n> [THREADS] [FORWARDING] [PACKAGE <package> TARGET <target>])`, lower
# levels first.

sluice_module(base LEVEL 0)
sluice_module(fixed LEVEL 1)
sluice_module(memory LEVEL 1 THREADS)
sluice_module(wait LEVEL 2 THREADS)
sluice_module(queue LEVEL 3 THREADS)
sluice_module(event LEVEL 4 THREADS)
sluice_module(log LEVEL 4 THREADS PACKAGE spdlog TARGET spdlog::spdlog)
sluice_module(bus LEVEL 5 THREADS)
sluice_module(eventpp LEVEL 5 THREADS FORWARDING)
sluice_separate_header(wire_json wire/json.hpp
    PACKAGE nlohmann_json TARGET nlohmann_json::nlohmann_json)
sluice_module(wire LEVEL 5)
sluice_module(actor LEVEL 6 THREADS)
sluice_module(inspect LEVEL 7)
