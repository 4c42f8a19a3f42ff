#include "sampler.hpp"

namespace hostwatch {

template <class Sample>
Sampler<Sample>::Sampler(const std::string& procDirectory, bool flood, Transport& transport,
                         Account& account, AlarmReturns& returns, StopSignal& stop,
                         EventLog& events)
    : flood_(flood),
      file_(procDirectory + '/' + fileOf(source)),
      reader_(makeReader<Sample>()),
      publisher_(transport, indexOf(source), account.attempts, returns),
      account_(account),
      stop_(stop),
      events_(events),
      thread_([this] { run(); }) {
}

template <class Sample>
Sampler<Sample>::~Sampler() {
    thread_.join();
}

template <class Sample>
void Sampler<Sample>::run() {
    const Clock::duration period = periodOf(source);
    Clock::time_point nextReading = Clock::now();
    while (!stop_.requested()) {
        const Clock::time_point now = Clock::now();
        if (now >= nextReading) {
            takeReading();
            publishSamples();
            publishSummary();
            nextReading += period;
            if (nextReading <= now) {  // late by a whole turn: leave it out, do not catch up
                nextReading = now + period;
            }
        } else if (flood_ && !newest_.empty()) {
            publishSamples();
        } else {
            stop_.waitUntil(nextReading);
        }
    }
}

template <class Sample>
void Sampler<Sample>::takeReading() {
    newest_.clear();
    Problem problem = file_.read();
    if (!problem) {
        problem = reader_->read(file_.text(), Clock::now(), newest_);
    }
    if (problem) {
        const std::string text = file_.path() + ": " + problem.text;
        account_.reading.countFaulty(text);
        events_.cannotRead(text);
    } else {
        account_.reading.countGood();
    }
}

template <class Sample>
void Sampler<Sample>::publishSamples() {
    bool anyRejected = false;
    for (const Sample& sample : newest_) {
        anyRejected |= !publisher_.publish(sample);
    }
    if (anyRejected) {
        std::this_thread::yield();  // there is no room: let the consumer have the processor
    }
}

template <class Sample>
void Sampler<Sample>::publishSummary() {
    if (newest_.empty()) {
        return;
    }
    const Aggregate aggregate = aggregateOf(newest_);
    (void)publisher_.publish(aggregate);
    const auto alarm = alarm_.look(aggregate);
    if (alarm && publisher_.publish(*alarm)) {
        alarm_.told(*alarm);
        events_.alarm(source, *alarm);
    }
}

template class Sampler<CpuSample>;
template class Sampler<MemorySample>;
template class Sampler<DiskSample>;
template class Sampler<NetworkSample>;

}  // namespace hostwatch
