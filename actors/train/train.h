#pragma once
// <rt/train.h>: all that a trainable needs to train data-parallel with LibTorch.

#include "rt/actors/collective/group.h"
#include "rt/actors/train/checkpoint.h"
#include "rt/actors/train/data_parallel.h"
#include "rt/actors/train/random_state.h"
#include "rt/actors/train/sampler.h"
#include "rt/actors/trainable.h"
