#pragma once
// rt: an actor runtime for distributed training, hyperparameter search and reinforcement learning.
// The header that a program includes: actors, calls, futures, coroutines, supervision, trainables.

#include "rt/actors/actor.h"
#include "rt/actors/cluster.h"
#include "rt/actors/future.h"
#include "rt/actors/parameters.h"
#include "rt/actors/rank_context.h"
#include "rt/actors/ref.h"
#include "rt/actors/self.h"
#include "rt/actors/stream.h"
#include "rt/actors/supervisor.h"
#include "rt/actors/task.h"
#include "rt/actors/task_run.h"
#include "rt/actors/trainable.h"
#include "rt/actors/wait.h"
#include "rt/actors/watch.h"
#include "rt/runtime/base/result.h"
