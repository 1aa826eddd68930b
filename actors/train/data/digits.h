#pragma once
// Digits: the handwritten digits that scikit-learn carries (its load_digits): 1,797 images of 8x8 pixels, from the test
// set of the UCI Optical Recognition of Handwritten Digits (Alpaydin and Kaynak 1998).

#include <filesystem>

#include "rt/actors/train/data/dataset.h"
#include "rt/runtime/base/result.h"

namespace rt::train {

// Reads digits.csv.gz, gzip or not: 1,797 lines of 64 whole pixels 0..16 and a label 0..9, parted by commas. The
// features are pixel / 16. Code::NotFound where the file isn't there, Code::Corrupt, with file and line, where it is
// short, damaged or holds anything else.
Result<Dataset> read_digits(const std::filesystem::path& file);

}  // namespace rt::train
