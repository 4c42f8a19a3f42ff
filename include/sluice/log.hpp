#pragma once

/// \file
/// The module log: records of all threads in the order of their time stamps.
