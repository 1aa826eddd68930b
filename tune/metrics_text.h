#pragma once
// Metrics as a rank sends them: a JSON object; nan and infinities, which JSON lacks, as the texts "nan", "inf", "-inf".

#include <string>

#include "rt/actors/trainable.h"

namespace rt::tune {

Metrics metrics_of(const std::string& json);  // what isn't a number is left out

}  // namespace rt::tune
