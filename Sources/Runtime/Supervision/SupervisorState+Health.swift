import Messages

extension SupervisorState {
    /// What is wrong with the children of each kind; nil where each runs and was welcomed.
    var complaints: [WorkerKind: String?] {
        var complaints: [WorkerKind: String?] = [:]
        for kind in Set(slots.map(\.kind)) {
            complaints.updateValue(complaint(about: slots.filter { $0.kind == kind }), forKey: kind)
        }
        return complaints
    }

    private func complaint(about slots: [SupervisorSlot]) -> String? {
        guard phase == .running else { return "shutting down" }
        let missing = slots.count { !$0.isWelcomed }
        guard missing > 0 else { return nil }
        return "\(missing) of \(slots.count) not part of the stack"
    }

    /// The same as one line of JSON: `ok`, or the complaint.
    var healthLine: String {
        let members = complaints.sorted { $0.key.name < $1.key.name }.map {
            "\"\($0.key.name)\":\"\($0.value ?? "ok")\""
        }
        return "{\(members.joined(separator: ","))}\n"
    }
}
