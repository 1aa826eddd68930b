#pragma once
// `parameters` of a sweep file -> Space. Part of the parser; mistakes go into Findings.

#include <string>

#include "rt/tune/fields.h"
#include "rt/tune/space.h"

namespace rt::tune {

// `node`: the map under `path` ("parameters", or that of a nested one). `is_grid`: distributions without a finite
// number of points are mistakes.
Space parse_parameters(const YamlNode& node, const std::string& path, bool is_grid, Findings& findings);

}  // namespace rt::tune
