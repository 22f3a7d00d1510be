import Messages

extension SupervisorState {
    /// How the children of each kind are, as one line of JSON: `ok` where each runs, was welcomed
    /// and is not among those `withoutSession`, else what is wrong. Somebody else's programs decide
    /// nothing.
    func healthLine(withoutSession: Set<Int> = []) -> String {
        let own = slots.indices.filter { !slots[$0].isForeign }
        let kinds = Set(own.map { slots[$0].kind }).sorted { $0.name < $1.name }
        let members = kinds.map { kind in
            let places = own.filter { slots[$0].kind == kind }
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
