#pragma once
// Filing: checkpoints as folders on disk. A checkpoint is complete under its final name or it isn't there.
//
// Stages: `prepare` makes an empty NAME.tmp; the ranks write their files into it; `publish` fsyncs all of it, renames
// it to NAME and fsyncs the parent. Only then may a record name it. What is left of an earlier try is removed.
// Threads: any; the functions keep no state. They read whole files: not for an event loop.

#include <filesystem>

#include "rt/runtime/base/result.h"
#include "rt/tune/records.h"

namespace rt::tune {

// `folder`: the trial's checkpoints. Returns the folder that the ranks write into.
Result<std::filesystem::path> prepare_checkpoint(const std::filesystem::path& folder, const std::string& name);
Result<Checkpoint> publish_checkpoint(const std::filesystem::path& folder, const std::string& name);

// A checkpoint that a program has written whole: its files with their checksums. Links in it are neither followed nor
// named. One that changes while it is read is read again, some times over; then Unavailable. NotFound where it isn't
// there.
Result<Checkpoint> describe_checkpoint(const std::filesystem::path& folder, const std::string& name);

// Code::Corrupt names the file that is missing, short or damaged.
Status verify_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

// Removes what no record names: the left-overs of a save that a kill cut off, whole or in part.
Status drop_unrecorded(const std::filesystem::path& folder, const std::vector<std::string>& recorded);

// Code::NoSpace where the disk of `folder` is full, of bytes or of inodes. For a failure that can't say whether a full
// disk is its cause: it looks afterwards, when something may have been removed already.
Status room_in(const std::filesystem::path& folder);

// One that isn't there is fine.
Status drop_checkpoint(const std::filesystem::path& folder, const std::string& name);

}  // namespace rt::tune
