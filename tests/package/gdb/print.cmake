# A script: a program stops in gdb, which prints what the program holds, by our printers and by the natvis
# file. Takes COMPILER, GDB, PRINTERS, NATVIS, SHOW_NATVIS, SOURCE, INCLUDE and OUTPUT.

set(rings "high = MpscRing of 1 messages, medium = MpscRing of 0 messages, low = MpscRing of 2 messages")
# A variable and how gdb is to print it.
set(expectations
    "name|= \"sluice\"\n"
    "numbers|= FixedVector of 2 of 4 = {3, 5}\n"
    "function|= FixedFunction of sluice::detail::"
    "noFunction|= FixedFunction, empty\n"
    "spsc|= SpscRing of 2 messages\n"
    "spscClosed|= SpscRing of 1 messages, closed\n"
    "mpsc|= MpscRing of 2 messages, closed\n"
    "mpmc|= MpmcRing of 2 messages\n"
    "overwrite|= OverwriteRing of 1 messages, closed\n"
    "segments|= SegmentQueue of 2 messages\n"
    "blocking|= BlockingQueue = {queue = SpscRing of 2 messages}\n"
    "lanes|= MpscLanes of 3 messages\n"
    "shared|= MpmcLanes of 1 messages\n"
    "bus|= Bus = {${rings}}\n"
    "bare|= Bus = {medium = MpscRing of 1 messages}\n"
    "subscription|= Subscription in slot 0 of the bus at 0x"
    "noSubscription|= Subscription, empty\n"
    "owned|= std::unique_ptr<Reading> = {get() = 0x"
    "token|= DataToken on 8 bytes at 0x"
    "noToken|= DataToken, empty\n")
# The same for the natvis file.
set(natvis_expectations
    "name|sluice\n"
    "numbers|{ size=2 of 4 } 3, 5\n"
    "function|0x"
    "noFunction|empty\n"
    "spsc|2 messages\n"
    "spscClosed|1 messages, closed\n"
    "mpsc|2 messages, closed\n"
    "mpmc|2 messages\n"
    "overwrite|1 messages, closed\n"
    "segments|2 messages\n"
    "blocking|2 messages\n"
    "bus|high 1 messages, medium 0 messages, low 2 messages\n"
    "bare|1 messages\n"
    "subscription|slot 0 of the bus at 0x"
    "noSubscription|empty\n"
    "owned|std::unique_ptr<Reading> = {get() = 0x"
    "token|8 bytes at 0x"
    "noToken|empty\n")

execute_process(
    COMMAND "${COMPILER}" -std=c++17 -g -O0 -pthread "-I${INCLUDE}" "${SOURCE}" -o "${OUTPUT}"
    COMMAND_ERROR_IS_FATAL ANY)
set(prints)
set(shows)
foreach(expectation IN LISTS expectations)
    string(REGEX MATCH "^[^|]+" variable "${expectation}")
    list(APPEND prints -ex "echo ${variable}\\n" -ex "print ${variable}")
endforeach()
foreach(expectation IN LISTS natvis_expectations)
    string(REGEX MATCH "^[^|]+" variable "${expectation}")
    list(APPEND shows -ex "natvis ${variable}")
endforeach()
execute_process(
    COMMAND "${GDB}" --batch -nx -ex "set max-value-size unlimited" -ex "break stopHere" -ex run -ex up
        -ex "python natvis_file = '${NATVIS}'" -ex "source ${SHOW_NATVIS}" ${shows}
        -ex "source ${PRINTERS}" ${prints} "${OUTPUT}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
foreach(expectation IN LISTS expectations)
    string(REGEX REPLACE "^([^|]+)\\|(.*)$" "\\2" expected "${expectation}")
    string(FIND "${output}" "${expected}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "gdb did not print '${expectation}':\n${output}")
    endif()
endforeach()
foreach(expectation IN LISTS natvis_expectations)
    string(REPLACE "|" ": " expected "${expectation}")
    string(FIND "${output}" "${expected}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "the natvis file does not show '${expectation}':\n${output}")
    endif()
endforeach()
