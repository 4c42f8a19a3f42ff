#include "sampler.hpp"

#include <utility>

namespace hostwatch {

Sampler::Sampler(Source source, const std::string& procDirectory, bool flood,
                 Transport::Publisher publisher, Account& account, StopSignal& stop)
    : period_(periodOf(source)),
      flood_(flood),
      file_(procDirectory + '/' + fileOf(source)),
      reader_(makeReader(source)),
      publisher_(std::move(publisher)),
      account_(account),
      stop_(stop),
      thread_([this] { run(); }) {
}

Sampler::~Sampler() {
    thread_.join();
}

void Sampler::run() {
    Clock::time_point nextReading = Clock::now();
    while (!stop_.requested()) {
        const Clock::time_point now = Clock::now();
        if (now >= nextReading) {
            takeReading();
            publishNewest();
            nextReading += period_;
            if (nextReading <= now) {  // late by a whole turn: leave it out, do not catch up
                nextReading = now + period_;
            }
        } else if (flood_ && !newest_.empty()) {
            publishNewest();
        } else {
            stop_.waitUntil(nextReading);
        }
    }
}

void Sampler::takeReading() {
    newest_.clear();
    Problem problem = file_.read();
    if (!problem) {
        problem = reader_->read(file_.text(), Clock::now(), newest_);
    }
    if (problem) {
        account_.reading.countFaulty(file_.path() + ": " + problem.text);
    } else {
        account_.reading.countGood();
    }
}

void Sampler::publishNewest() {
    bool anyRejected = false;
    for (const Measurement& measurement : newest_) {
        account_.producer.countAttempt();
        const bool accepted = publisher_.publish(measurement);
        account_.producer.countOutcome(accepted);
        anyRejected |= !accepted;
    }
    if (anyRejected) {
        std::this_thread::yield();  // the lane is full: let the consumer have the processor
    }
}

}  // namespace hostwatch
