# Writes one source that holds several: cmake -D root=… -D output=… -D sources=a.cc,b.cc -P join_sources.cmake
# Tests use the same short names for their own things, so each unnamed namespace goes into one that is named after its
# file. Messages and debuggers still tell the sources' own names and lines.
set(joined "")
string(REPLACE "," ";" sources "${sources}")
foreach(source IN LISTS sources)
  file(READ "${source}" text)
  file(RELATIVE_PATH path "${root}" "${source}")
  string(MAKE_C_IDENTIFIER "${path}" name)
  # The line break before and after: such a line within another stays as it is.
  string(REPLACE "\nnamespace {\n" "\nnamespace in_${name} { namespace {\n" text "${text}")
  string(REPLACE "\n}  // namespace\n" "\n} }  // namespace\n" text "${text}")
  string(APPEND joined "#line 1 \"${path}\"\n${text}\n")
endforeach()
file(WRITE "${output}" "${joined}")
