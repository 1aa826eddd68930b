#pragma once
// Executor: a thread on which coroutines are resumed, one at a time, in the order in which they became ready.
//
// Owner: whoever runs it, longer than any job lives. Threads: `post` any; jobs run on the executor's own.

namespace rt::detail {

class Executor {
 public:
  // Part of what is to be run: posting allocates nothing. It may be gone once it has run.
  struct Job {
    Job* next = nullptr;
    void (*run)(Job& self) = nullptr;
  };
  // First in, first out. Thread: whoever guards it.
  class Queue {
   public:
    void push(Job& job) {
      job.next = nullptr;
      *end_ = &job;
      end_ = &job.next;
    }
    Job* pop() {
      Job* const job = first_;
      if (job) first_ = job->next;
      if (!first_) end_ = &first_;
      return job;
    }
    bool empty() const { return first_ == nullptr; }

   private:
    Job* first_ = nullptr;
    Job** end_ = &first_;
  };

  virtual ~Executor() = default;
  virtual void post(Job& job) = 0;

  // Of this thread; null where it is none's.
  static Executor*& current();
};

}  // namespace rt::detail
