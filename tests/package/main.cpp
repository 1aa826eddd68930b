#include <rt/actors/parameters.h>

// Ends with 0 where the library was linked and works.
int main() { return rt::Parameters(R"({"ranks": 2})").integer("ranks") == 2 ? 0 : 1; }
