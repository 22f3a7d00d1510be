import Messages

extension SupervisorState {
    /// How the children of each kind are, as one line of JSON: `ok` where each runs, was welcomed
    /// and is not among those `withoutSession`, else what is wrong.
    func healthLine(withoutSession: Set<Int> = []) -> String {
        let kinds = Set(slots.map(\.kind)).sorted { $0.name < $1.name }
        let members = kinds.map { kind in
            let places = slots.indices.filter { slots[$0].kind == kind }
            let missing = places.count { !slots[$0].isWelcomed || withoutSession.contains($0) }
            return "\"\(kind.name)\":\"\(complaint(missing, of: places.count) ?? "ok")\""
        }
        return "{\(members.joined(separator: ","))}\n"
    }

    private func complaint(_ missing: Int, of count: Int) -> String? {
        guard phase == .running else { return "shutting down" }
        return missing > 0 ? "\(missing) of \(count) not part of the stack" : nil
    }
}
