extension StackHarness {
    /// The running processes of a kind, such as `decode`.
    func processes(_ kind: String) -> [ObservedProcess] {
        // The kernel truncates process names to fifteen characters.
        children.filter { "imagebus-\(kind)".hasPrefix($0.name) }
    }
}
