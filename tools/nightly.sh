# shellcheck shell=bash
# The tests that .ci/run leaves out. `./dev nightly` reads this file, which uses its functions.

# ctest_again <preset> [option]...: runs built tests; the last line is `N passed, N failed`.
ctest_again() {
    local report="$PWD/build/$1/again.xml" status=0
    rm -f "$report"
    ctest --preset "$1" --output-junit "$report" "${@:2}" || status=$?
    summarise "$report"
    return "$status"
}

# A user can run each part alone.
nightly_parts=(
    policies analyzers model asan tsan noexceptions aarch64 armhf stress repeat bench bridge inspect faults fuzz compilers windows
    musl macos packages release readme
)
concurrent='^(wait|queue|event|bus|actor|log_queue|log|conformance|cpp20|libraries|stress)\.'

nightly_part() {
    case $1 in
        policies) run_tests policies ;;
        analyzers)
            need "${check_packages[@]}"
            configure tidy
            python3 -B tools/run_tidy.py build/tidy --all
            ;;
        model)
            need "${test_packages[@]}"
            build release model_test
            SLUICE_MODEL_EFFORT=full ctest_again release -R '^model\.'
            ;;
        asan | tsan) sanitizer "$1" ;;
        noexceptions) run_tests "$1" ;;
        aarch64 | armhf | macos) "$1" ;;
        windows | musl) GTEST_SHUFFLE=1 SLUICE_TEST_RUNS=5 "$1" ;;
        stress)
            need "${test_packages[@]}"
            build release stress_test log_test
            ctest_again release -R '^log\.'
            ctest_again release -R '^stress\.' --repeat until-fail:50
            ;;
        repeat) repeat_concurrent_tests ;;
        bench)
            need "${bench_packages[@]}" "${analysis_packages[@]}" xz-utils
            build bench
            python_tools
            gate_allocations docs/evidence/*.json.xz
            ;;
        bridge) sanitized_bridge ;;
        inspect) sanitized_inspect ;;
        faults) SLUICE_FAULT_ROUNDS=200 bridge 'FaultTest|FleetTest' ;;
        fuzz) fuzz ;;
        compilers) need "${test_packages[@]}"; python3 -B tools/compilers.py build/compilers ;;
        packages)
            need lintian gdb python3-venv qt6-base-dev
            run_tests dev '^(package\.|examples\.qt_loop)'
            packaging/conan/check
            ;;
        release) release_of_a_clone ;;
        readme) commands_of_the_readme ;;
    esac
}

# gate_allocations <raw file>...: counts the allocations of a message again, and gates them by the evidence of this
# processor. Times are not gated: the evidence has one process for each suite, so no time would be decided. The gate of
# instructions is ./dev count.
gate_allocations() {
    local cpu file new text arguments status=0
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    for file in "$@"; do
        new=build/bench/$(basename "$file" .xz)
        text=$(build/venv/bin/sluice-bench reproduce "$file" --allocations)
        mapfile -t arguments <<<"$text"
        if [[ ! $text ]]; then
            say "$file: skipped, it counts no allocations"
        elif ! xz --decompress --stdout "$file" | grep -F "\"cpu\": \"$cpu\"" >/dev/null; then
            say "$file: skipped, it is from another processor than '$cpu'"
        else
            build/bench/bench/sluice_bench "${arguments[@]}" --json "$new" >/dev/null || status=$?
            build/venv/bin/sluice-bench gate "$new" --baseline "$file" --metric allocations --subjects '^sluice' \
                --undecided fail --missing fail || status=$?
        fi
    done
    return "$status"
}

# The bridge's tests under both kinds of sanitizers. libnats is not instrumented.
sanitized_bridge() {
    local status=0
    nats_server
    sanitizer bridge-asan '^bridge' || status=$?
    sanitizer bridge-tsan '^bridge' || status=$?
    return "$status"
}

# The live page's server and the recorder under both kinds of sanitizers.
sanitized_inspect() {
    local status=0
    need "${inspect_packages[@]}"
    node_and_npm
    sanitizer inspect-asan '^(live|record)' || status=$?
    sanitizer inspect-tsan '^(live|record)' || status=$?
    return "$status"
}

# Ten minutes of random bytes for each decoder, beginning with inputs that are kept in the tree.
fuzz() {
    local source name
    need "${sanitizer_packages[@]}" libzstd-dev
    for source in tests/fuzz/*_fuzz.cpp; do
        name=$(basename "$source" _fuzz.cpp)
        mkdir -p "build/fuzz/$name"
        clang++-16 -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
            -Iinclude -Isrc/live/include -Isrc/record/include "$source" -lzstd -o "build/fuzz/${name}_fuzz"
        "build/fuzz/${name}_fuzz" -max_total_time="${SLUICE_FUZZ_SECONDS:-600}" -artifact_prefix=build/fuzz/ \
            "build/fuzz/$name" "tests/fuzz/corpus/$name"
    done
}

# A release of the last commit, from a tag that only the clone has.
release_of_a_clone() {
    local clone=build/release-clone version file
    need "${build_packages[@]}" doxygen python3-venv
    version=$(sed -n 's/^ *VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt | head -n 1)
    rm -rf "$clone"
    git clone --quiet . "$clone"
    git -C "$clone" tag --force "v$version"
    "$clone/packaging/release" "v$version"
    for file in "libsluice-dev_${version}-1_all.deb" "sluice-$version"{,-single-header,-vcpkg,-docs}.tar.gz \
        "sluice-$version-conan.tgz" "sluice-$version.spdx.json"; do
        grep -q "  $file\$" "$clone/build/release/SHA256SUMS" || die "the release has no $file"
    done
    printf '1 passed, 0 failed\n'
}

# The commands of the README in the order written, in a fresh clone.
commands_of_the_readme() {
    local clone=build/readme-clone command commands
    rm -rf "$clone"
    git clone --quiet . "$clone"
    mapfile -t commands < <(sed -n 's|^    \(\./dev [a-z]*\) .*#.*|\1|p' README.md)
    ((${#commands[@]} == 2)) || die "the README has ${#commands[@]} commands, and not ./dev demo and ./dev test"
    for command in "${commands[@]/%demo/demo --seconds 2}"; do
        say "$command"
        (cd "$clone" && bash -c "$command")
    done
    python3 -B tests/package/readme/run.py "$clone" build/readme
}

# A test that fails rarely fails more often on one processor, beside busy programs.
repeat_concurrent_tests() {
    local status=0
    burners=()  # the trap reads them after this function has ended
    need "${test_packages[@]}"
    build dev
    # Also if ctest is killed: otherwise a busy program would run for ever.
    trap 'kill "${burners[@]}"; wait "${burners[@]}" || true' EXIT
    for _ in $(seq "$(nproc)"); do
        sh -c 'while :; do :; done' &
        burners+=($!)
    done
    taskset --all-tasks --cpu-list --pid 0 $$ >/dev/null
    ctest_again dev -R "$concurrent" --repeat until-fail:200 || status=$?
    return "$status"
}

nightly() {
    local part refused=()
    (($# <= 1)) || refuse "one part at most: ./dev nightly [PART]"
    if (($#)); then
        [[ " ${nightly_parts[*]} " == *" $1 "* ]] ||
            refuse "there is no part '$1' of the nightly tests; the parts are: ${nightly_parts[*]}"
        nightly_part "$1"
        return
    fi
    for part in "${nightly_parts[@]}"; do
        printf '\n##### %s\n' "$part"
        "$0" nightly "$part" || refused+=("$part")
    done
    ((${#refused[@]} == 0)) || die "failed: ${refused[*]}"
}
