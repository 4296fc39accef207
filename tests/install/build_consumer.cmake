# Steps of the test in CMakeLists.txt; expects the client to be built.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work_dir})
run(${CMAKE_COMMAND} --install ${build_dir} --prefix ${work_dir}/prefix --component client)

set(flags "-O1 -Wall -Wextra -Wpedantic -Werror")
if(sanitize)
  string(APPEND flags " -fsanitize=${sanitize}")
endif()
run(${CMAKE_COMMAND} -S ${consumer_dir} -B ${work_dir}/build -G ${generator}
  -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags} -D CMAKE_PREFIX_PATH=${work_dir}/prefix)
run(${CMAKE_COMMAND} --build ${work_dir}/build)
run(${work_dir}/build/consumer)
run(${work_dir}/build/beside_inference)
