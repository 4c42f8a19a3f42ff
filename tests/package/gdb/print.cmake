# A script: a program stops in gdb, which prints what the program holds. Takes COMPILER, GDB, PRINTERS,
# SOURCE, INCLUDE and OUTPUT.

execute_process(
    COMMAND "${COMPILER}" -std=c++17 -g -O0 -pthread "-I${INCLUDE}" "${SOURCE}" -o "${OUTPUT}"
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(
    COMMAND "${GDB}" --batch -nx -ex "source ${PRINTERS}" -ex "break stopHere" -ex run -ex up
        -ex "print name" -ex "print numbers" -ex "print open" -ex "print closed" "${OUTPUT}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
foreach(expected IN ITEMS
        "= \"sluice\"" "= FixedVector of 2 of 4 = {3, 5}" "= SpscRing of 2 messages\n"
        "= SpscRing of 1 messages, closed\n")
    string(FIND "${output}" "${expected}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "gdb did not print '${expected}':\n${output}")
    endif()
endforeach()
