# shellcheck shell=bash
# Builds the benchmarks and runs a suite. `./dev bench` reads this file, which uses its functions.

bench() {
    (($#)) || refuse "name a suite: ./dev bench queues"
    case $1 in
        report | export | compare | trend | gate | doctor | reproduce | evidence | check)
            need "${analysis_packages[@]}"
            python_tools
            exec build/venv/bin/sluice-bench "$@"
            ;;
        bridge)
            bench_bridge "$@"
            return
            ;;
    esac
    local html='' json='' arguments=()
    while (($#)); do
        case $1 in
            --html=*) html=${1#*=} ;;
            --json=*) json=${1#*=} ;;
            --html | --json)
                (($# > 1)) || refuse "$1 needs a file"
                printf -v "${1#--}" '%s' "$2"
                shift
                ;;
            *) arguments+=("$1") ;;
        esac
        shift
    done
    need "${bench_packages[@]}"
    if [[ ! $html ]]; then
        build bench
        exec build/bench/bench/sluice_bench "${arguments[@]}" ${json:+--json "$json"}
    fi
    measure_and_show "$html" "${json:-build/bench/measured.json}" "${arguments[@]}"
}

# bench_bridge bridge [option]...: starts a server with default settings, and with streams.
bench_bridge() {
    local ports=() status=0
    nats_server
    need "${bench_packages[@]}" libmsgpack-cxx-dev
    build bench-bridge
    server_folder=$(mktemp -d)  # the trap reads it after this function has ended
    "$(PATH=build/venv/bin:$PATH:/usr/sbin type -P nats-server)" -a 127.0.0.1 -p -1 -js -sd "$server_folder" \
        --ports_file_dir "$server_folder" -l "$server_folder/log" &
    server=$!
    trap 'kill "$server"; wait "$server" || true; rm -rf "$server_folder"' EXIT
    until ports=("$server_folder"/*.ports) && grep -q '}' "${ports[0]}" 2>/dev/null; do
        kill -0 "$server" || die "the server has ended"
        sleep 0.1
    done
    SLUICE_NATS_URL=$(grep -o 'nats://[^"]*' "${ports[0]}") build/bench-bridge/bench/sluice_bench "$@" || status=$?
    return "$status"
}

# measure_and_show <page> <file> <argument>...: shows invalid and interrupted runs too, which the page marks.
measure_and_show() {
    local html=$1 json=$2 status=0 started=build/bench/started
    # Checked before the run, which takes minutes.
    [[ ! -d $html && -w $(dirname -- "$html") ]] || refuse "cannot write $html"
    need "${analysis_packages[@]}"
    python_tools
    build bench
    touch "$started"
    build/bench/bench/sluice_bench "${@:3}" --json "$json" || status=$?
    if [[ $json -nt $started && -s $json ]]; then
        build/venv/bin/sluice-bench report "$json" --html "$html" || return
        say "$html"
    fi
    return "$status"
}
