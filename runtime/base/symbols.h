#pragma once
// Symbols: the names of functions by their addresses in this process, as a person reads them.
//
// From the tables of symbols in the program's and the libraries' own files, so also those of functions that no library
// exports; a program that was stripped of them keeps what it exports. Owner: who asks; it reads each file once. Thread:
// its owner's.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace rt {

struct Function {
  std::string name;          // "Counter::spin(int)"; empty: unknown
  std::string module;        // the program's or library's file
  std::uint64_t offset = 0;  // in the file's own addresses, as addr2line wants them
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  // `address`: of an instruction of the function.
  Function at(std::uint64_t address);

 private:
  class Table;
  std::map<std::string, std::unique_ptr<Table>> tables_;  // by file
};

}  // namespace rt
