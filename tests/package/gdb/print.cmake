# A script: a program stops in gdb, which prints what the program holds. Takes COMPILER, GDB, PRINTERS,
# SOURCE, INCLUDE and OUTPUT.

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
    "segments|= SegmentQueue of 2 messages\n"
    "blocking|= BlockingQueue = {queue = SpscRing of 2 messages}\n"
    "lanes|= MpscLanes of 3 messages\n"
    "bus|= Bus = {${rings}}\n"
    "bare|= Bus = {medium = MpscRing of 1 messages}\n"
    "subscription|= Subscription in slot 0 of the bus at 0x"
    "noSubscription|= Subscription, empty\n"
    "owned|= {* = {value = 6}}\n"
    "token|= DataToken on 8 bytes at 0x"
    "noToken|= DataToken, empty\n")

execute_process(
    COMMAND "${COMPILER}" -std=c++17 -g -O0 -pthread "-I${INCLUDE}" "${SOURCE}" -o "${OUTPUT}"
    COMMAND_ERROR_IS_FATAL ANY)
set(prints)
foreach(expectation IN LISTS expectations)
    string(REGEX MATCH "^[^|]+" variable "${expectation}")
    list(APPEND prints -ex "echo ${variable}\\n" -ex "print ${variable}")
endforeach()
execute_process(
    COMMAND "${GDB}" --batch -nx -ex "source ${PRINTERS}" -ex "set max-value-size unlimited"
        -ex "break stopHere" -ex run -ex up ${prints} "${OUTPUT}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
foreach(expectation IN LISTS expectations)
    string(REGEX REPLACE "^([^|]+)\\|(.*)$" "\\2" expected "${expectation}")
    string(FIND "${output}" "${expected}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "gdb did not print '${expectation}':\n${output}")
    endif()
endforeach()
