// A ROS 2 node that decides in one thread: subscriptions publish into a bus and return at once, and
// the thread of the bus commands the motor. A stop overtakes the readings that wait.

#include <sluice/bus.hpp>

#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/empty.hpp>
#include <std_msgs/msg/float64.hpp>

#include <memory>
#include <thread>

namespace {

using Number = std_msgs::msg::Float64;
using Signal = std_msgs::msg::Empty;

struct Distance {
    double metres;
};
struct Stop {};
using Control = sluice::Bus<sluice::Messages<Distance, Stop>>;

Control bus;  // hundreds of KiB, so not on the stack

class Drive : public rclcpp::Node {
public:
    Drive() : Node("drive"), motor_(create_publisher<Number>("motor", 10)) {
        distance_ = create_subscription<Number>("distance", 10, [this](const Number& message) {
            if (bus.publish(Distance{message.data}, sluice::Priority::low) !=
                sluice::SendResult::ok) {
                RCLCPP_WARN(get_logger(), "a distance was refused: the motor is slower than it");
            }
        });
        stop_ = create_subscription<Signal>(
            "stop", 10, [](const Signal&) { (void)bus.publish(Stop{}, sluice::Priority::high); });
    }

    /// By the thread of the bus. A publisher of rclcpp may be used from any thread.
    void command(double speed) {
        Number message;
        message.data = speed;
        motor_->publish(message);
    }

private:
    rclcpp::Publisher<Number>::SharedPtr motor_;
    rclcpp::Subscription<Number>::SharedPtr distance_;
    rclcpp::Subscription<Signal>::SharedPtr stop_;
};

}  // namespace

int main(int argc, char** argv) {
    rclcpp::init(argc, argv);
    const auto node = std::make_shared<Drive>();
    const auto distances = bus.subscribe<Distance>(
        [&](const Distance& distance) { node->command(distance.metres > 1 ? 0.5 : 0); });
    const auto stops = bus.subscribe<Stop>([&](const Stop&) { node->command(0); });

    std::thread control([] { bus.run(); });  // until the bus is closed and empty
    rclcpp::spin(node);                      // until SIGINT
    bus.close();
    control.join();
    rclcpp::shutdown();
}
