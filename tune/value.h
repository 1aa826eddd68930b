#pragma once
// Value: what a parameter can be: null, bool, a 64-bit integer, a double, text, a list, a map. A trial's parameters are
// one Value, an object whose members stand in the sweep file's order (programs get their arguments in that order).
//
// Invariants: numbers are finite; a nested `parameters` is an object inside the object.
// Danger: two objects with the same members in another order are not equal. Include this header inside tune only: users
// read parameters through rt::Parameters, which takes `value.dump()`.

#include <nlohmann/json.hpp>

namespace rt::tune {

using Value = nlohmann::ordered_json;

}  // namespace rt::tune
