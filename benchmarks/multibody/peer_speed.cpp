// Time per call of Pinocchio's and MuJoCo's algorithms in C++, one thread: ns, the best of several rounds over random states.
//
//   P=VENV/lib/python3.11/site-packages                    (pip install cmeel-eigen besides what dump_models.py names)
//   g++ -O3 -march=native -std=c++17 -DNDEBUG -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS -I$P/cmeel.prefix/include -I$P/cmeel.prefix/include/eigen3 -I$P/mujoco/include peer_speed.cpp
//       -o peer_speed -L$P/cmeel.prefix/lib -lpinocchio_default -lboost_serialization -L$P/mujoco -l:libmujoco.so.4.0.0
//       -Wl,-rpath,$P/cmeel.prefix/lib:$P/mujoco
//   peer_speed ROUNDS OUT/ROBOT.model...                   OUT as dump_models.py wrote it
//
// Prints lines "robot algorithm ns". MuJoCo reads the URDF beside the model where it accepts it; other robots are left out for it.
#include <mujoco/mujoco.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <string>
#include <vector>

template <class Call>
double best(int rounds, int count, Call call) {
    double least = 1e300;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < count; ++k) call(k);
        const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
        least = std::min(least, spent.count() / count);
    }
    return least;
}

int main(int count, char** arguments) {
    const int rounds = std::atoi(arguments[1]);
    for (int a = 2; a < count; ++a) {
        std::string path = arguments[a];
        std::string name = path.substr(path.find_last_of('/') + 1);
        name = name.substr(0, name.find('.'));
        pinocchio::Model model;
        model.loadFromText(path);
        pinocchio::Data data(model);
        const int states = 64;
        std::vector<Eigen::VectorXd> q, v, f;
        std::srand(1);
        Eigen::VectorXd low = Eigen::VectorXd::Constant(model.nq, -1.0), high = -low;
        for (int k = 0; k < states; ++k) {
            q.push_back(pinocchio::randomConfiguration(model, low, high));
            v.push_back(Eigen::VectorXd::Random(model.nv));
            f.push_back(Eigen::VectorXd::Random(model.nv));
        }
        // Rounds of a fraction of a millisecond: some of them are not interrupted even on a busy machine.
        const int calls = std::max(1, 2000 / model.nv);
        const auto report = [&](const char* what, double ns) { std::printf("%s %s %.1f\n", name.c_str(), what, ns); };
        const auto at = [&](int k) { return k % states; };
        report("aba", std::min(
            best(rounds, calls, [&](int k) { pinocchio::aba(model, data, q[at(k)], v[at(k)], f[at(k)], pinocchio::Convention::LOCAL); }),
            best(rounds, calls, [&](int k) { pinocchio::aba(model, data, q[at(k)], v[at(k)], f[at(k)], pinocchio::Convention::WORLD); })));
        report("rnea", best(rounds, calls, [&](int k) { pinocchio::rnea(model, data, q[at(k)], v[at(k)], f[at(k)]); }));
        report("crba", std::min(
            best(rounds, calls, [&](int k) { pinocchio::crba(model, data, q[at(k)], pinocchio::Convention::LOCAL); }),
            best(rounds, calls, [&](int k) { pinocchio::crba(model, data, q[at(k)], pinocchio::Convention::WORLD); })));
        if (model.nv <= 100)
            report("aba_derivatives", best(rounds, std::max(1, calls / 8), [&](int k) {
                pinocchio::computeABADerivatives(model, data, q[at(k)], v[at(k)], f[at(k)]);
            }));
        char complaint[1000] = "";
        mjModel* m = mj_loadXML((path.substr(0, path.size() - 5) + "urdf").c_str(), nullptr, complaint, sizeof complaint);
        if (!m) {
            std::fprintf(stderr, "MuJoCo, %s: %s\n", name.c_str(), complaint);
            continue;
        }
        m->opt.disableflags |= mjDSBL_CONSTRAINT;
        mjData* d = mj_makeData(m);
        std::vector<double> angle(states * m->nq), speed(states * m->nv);
        for (auto& x : angle) x = 2.0 * std::rand() / RAND_MAX - 1.0;
        for (auto& x : speed) x = 2.0 * std::rand() / RAND_MAX - 1.0;
        report("mj_forward", best(rounds, calls, [&](int k) {
            std::memcpy(d->qpos, &angle[at(k) * m->nq], m->nq * sizeof(double));
            std::memcpy(d->qvel, &speed[at(k) * m->nv], m->nv * sizeof(double));
            mj_forward(m, d);
        }));
        std::printf("%s mj_velocities %d\n", name.c_str(), static_cast<int>(m->nv));
        mj_deleteData(d);
        mj_deleteModel(m);
    }
}
