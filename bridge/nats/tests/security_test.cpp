#include "station.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace sluice::nats {
namespace {

using namespace test;

/// Certificates of an authority and of a server at 127.0.0.1. The program openssl makes them.
class Certificates {
public:
    Certificates() {
        const std::string make =
            "exec 2>/dev/null; cd " + folder_ / "." +
            " && openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=authority -days 2"
            " -keyout authority.key -out authority.pem"
            " && openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key"
            " -out server.csr && echo subjectAltName=IP:127.0.0.1 > names"
            " && openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key"
            " -CAcreateserial -days 2 -extfile names -out server.pem";
        if (std::system(make.c_str()) != 0) {
            throw std::runtime_error("openssl cannot make certificates");
        }
    }
    [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }
    /// The settings of a server. With `verify`, it asks its clients for a certificate.
    [[nodiscard]] std::string settings(bool verify = false) const {
        return "tls { cert_file: \"" + folder_ / "server.pem" + "\", key_file: \"" +
               folder_ / "server.key" + "\", ca_file: \"" + folder_ / "authority.pem" +
               "\", verify: " + (verify ? "true" : "false") + " }";
    }

private:
    TemporaryFolder folder_;
};

void expectRefused(const NatsOptions& options) {
    const std::string failure = failureOf(options);
    EXPECT_EQ(failure.find("nats: "), 0U) << failure;
    EXPECT_EQ(failure.find('\n'), std::string::npos) << failure;
}

TEST(SecurityTest, AnEncryptedLinkTrustsItsAuthorityAlone) {
    const Certificates good;
    const Certificates other;
    const NatsServer server(good.settings());
    NatsOptions options = optionsFor(server);
    options.authorityFile = good / "authority.pem";
    {
        Station sender(options);
        Station receiver(options);
        receiver.bridge.importType<Position>({"position"});
        sender.bridge.exportType<Position>({"position"});
        sender.send(1);
        receiver.consume(1);
    }
    options.authorityFile = other / "authority.pem";
    expectRefused(options);
    options.authorityFile = other / "absent.pem";
    expectRefused(options);
}

TEST(SecurityTest, AServerMayAskForACertificate) {
    const Certificates good;
    const Certificates other;
    const NatsServer server(good.settings(true));
    NatsOptions options = optionsFor(server);
    options.authorityFile = good / "authority.pem";
    expectRefused(options);
    options.certificateFile = other / "server.pem";
    options.keyFile = other / "server.key";
    expectRefused(options);
    options.certificateFile = good / "server.pem";
    options.keyFile = good / "server.key";
    EXPECT_EQ(failureOf(options), "no failure");
}

// This pair of keys was made for this test only.
TEST(SecurityTest, AnNkeyIsAskedFor) {
    const std::string key = "UDXAMTNRDEDVIQEZHVI6YLNFVKVMRPUJ7B6NT4MUBNH6BF7IHDAPFUOP";
    const NatsServer server("authorization { users = [ { nkey: " + key + " } ] }");
    const TemporaryFolder folder;
    std::ofstream(folder / "seed") << "SUAHRTKSNDNDTEBW6KYF7HQEXORRST5DGHDKQ2SR2U54CKKMEWIFGT7PAE";
    NatsOptions options = optionsFor(server);
    expectRefused(options);
    options.nkey = key;
    options.nkeySeedFile = folder / "seed";
    EXPECT_EQ(failureOf(options), "no failure");
    options.nkeySeedFile = folder / "absent";
    expectRefused(options);
}

}  // namespace
}  // namespace sluice::nats
