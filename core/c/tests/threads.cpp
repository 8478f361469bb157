/* Every thread has its own last message, also after others got theirs, and exceptions pass between the calls. */
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "undercurve.h"

static const int THREADS = 8, ROUNDS = 20;
static std::atomic<int> arrived(0), wrong(0);

/* Waits until all threads have come here so many times. */
static void together(int times) {
    arrived++;
    while (arrived < times * THREADS) std::this_thread::yield();
}

static void run(uint32_t k) {
    const std::string expected = "there is no sum " + std::to_string(1000 + k);
    for (int round = 0; round < ROUNDS; round++) {
        size_t need;
        char text[64];
        if (uc_pairs_need_f64(1000 + k, "hinge", 1.0, 4, 2, 0, &need) != UC_CHOICE) wrong++;
        together(2 * round + 1);
        try {
            uc_last_error(text, sizeof text);
            throw std::runtime_error(text);
        } catch (const std::exception &told) {
            if (told.what() != expected) wrong++;
        }
        together(2 * round + 2);
    }
}

int main() {
    std::vector<std::thread> threads;
    for (uint32_t k = 0; k < THREADS; k++) threads.emplace_back(run, k);
    for (auto &thread : threads) thread.join();
    std::printf("%d wrong messages\n", int(wrong));
}
