import TestKit

extension StackHarness {
    /// The running processes of a kind, such as `decode`.
    func processes(_ kind: String) -> [ObservedProcess] {
        // The kernel keeps fifteen letters of a name.
        children.filter { "imagebus-\(kind)".hasPrefix($0.name) }
    }
}
