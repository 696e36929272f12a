// Time per call of Pinocchio's and MuJoCo's algorithms in C++, one thread: least and median ns of many rounds over random states.
//
//   peer_speed ROUNDS OUT/ROBOT.links...                   OUT as dump_models.py wrote it; `run` builds and calls it
//
// The libraries of the packages do the work, so their instructions are those they were built for. Prints lines "robot algorithm least median". Pinocchio runs in
// both frame conventions; the faster counts. MuJoCo reads the same links from the MJCF beside the file.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <string>
#include <vector>

template <class Call>
std::vector<double> times(int rounds, int count, Call call) {
    std::vector<double> all;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < count; ++k) call(k);
        const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
        all.push_back(spent.count() / count);
    }
    std::sort(all.begin(), all.end());
    return all;
}

// One link per line: parent, joint, axis, quaternion x y z w and position of the joint, mass, centre of mass, inertia about it.
pinocchio::Model read(const std::string& path, bool& floating) {
    pinocchio::Model model;
    std::ifstream file(path);
    long parent;
    std::string joint;
    Eigen::Vector3d axis, position, center;
    Eigen::Quaterniond turn;
    double mass;
    Eigen::Matrix3d inertia;
    while (file >> parent >> joint >> axis[0] >> axis[1] >> axis[2] >> turn.x() >> turn.y() >> turn.z() >> turn.w() >> position[0] >>
           position[1] >> position[2] >> mass >> center[0] >> center[1] >> center[2]) {
        for (int k = 0; k < 9; ++k) file >> inertia(k / 3, k % 3);
        const pinocchio::SE3 place(turn.toRotationMatrix(), position);
        const std::string name = std::to_string(model.njoints);
        const auto add = [&](const auto& kind) { return model.addJoint(parent + 1, kind, place, name); };
        pinocchio::JointIndex id;
        if (joint == "free") id = add(pinocchio::JointModelFreeFlyer());
        else if (joint == "prismatic") id = add(pinocchio::JointModelPrismaticUnaligned(axis));
        else if (axis == Eigen::Vector3d::UnitX()) id = add(pinocchio::JointModelRX());
        else if (axis == Eigen::Vector3d::UnitY()) id = add(pinocchio::JointModelRY());
        else if (axis == Eigen::Vector3d::UnitZ()) id = add(pinocchio::JointModelRZ());
        else id = add(pinocchio::JointModelRevoluteUnaligned(axis));
        floating = floating || joint == "free";
        model.appendBodyToJoint(id, pinocchio::Inertia(mass, center, inertia));
    }
    return model;
}

int main(int count, char** arguments) {
    const int rounds = std::atoi(arguments[1]);
    for (int a = 2; a < count; ++a) {
        std::string path = arguments[a];
        std::string name = path.substr(path.find_last_of('/') + 1);
        name = name.substr(0, name.find('.'));
        bool floating = false;
        const pinocchio::Model model = read(path, floating);
        pinocchio::Data data(model);
        const int states = 16;
        std::vector<Eigen::VectorXd> q, v, f;
        std::srand(1);
        for (int k = 0; k < states; ++k) {
            Eigen::VectorXd own = Eigen::VectorXd::Random(model.nq);
            if (floating) own.segment<4>(3).normalize();
            q.push_back(own);
            v.push_back(Eigen::VectorXd::Random(model.nv));
            f.push_back(Eigen::VectorXd::Random(model.nv));
        }
        // Rounds of a fraction of a millisecond: some of them are not interrupted even on a busy machine.
        const int calls = std::max(1, 2000 / model.nv);
        const auto report = [&](const char* what, const std::vector<double>& all) {
            std::printf("%s %s %.1f %.1f\n", name.c_str(), what, all.front(), all[all.size() / 2]);
        };
        const auto local = pinocchio::Convention::LOCAL, world = pinocchio::Convention::WORLD;
        for (const auto convention : {local, world}) {
            report("aba", times(rounds, calls, [&](int k) {
                pinocchio::aba(model, data, q[k % states], v[k % states], f[k % states], convention);
            }));
            report("crba", times(rounds, calls, [&](int k) { pinocchio::crba(model, data, q[k % states], convention); }));
        }
        report("rnea", times(rounds, calls, [&](int k) { pinocchio::rnea(model, data, q[k % states], v[k % states], f[k % states]); }));
        char complaint[1000] = "";
        mjModel* m = mj_loadXML((path.substr(0, path.size() - 5) + "mjcf.xml").c_str(), nullptr, complaint, sizeof complaint);
        if (!m) {
            std::fprintf(stderr, "MuJoCo, %s: %s\n", name.c_str(), complaint);
            continue;
        }
        m->opt.disableflags |= mjDSBL_CONSTRAINT;
        mjData* d = mj_makeData(m);
        std::vector<double> angle(states * m->nq), speed(states * m->nv);
        for (auto& x : angle) x = 2.0 * std::rand() / RAND_MAX - 1.0;
        for (auto& x : speed) x = 2.0 * std::rand() / RAND_MAX - 1.0;
        report("mj_forward", times(rounds, calls, [&](int k) {
            std::memcpy(d->qpos, &angle[(k % states) * m->nq], m->nq * sizeof(double));
            std::memcpy(d->qvel, &speed[(k % states) * m->nv], m->nv * sizeof(double));
            mj_forward(m, d);
        }));
        mj_deleteData(d);
        mj_deleteModel(m);
    }
}
