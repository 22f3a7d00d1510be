public import ImageModel

/// What workers can do, or may: each list is all of what is known where it is `nil`.
public struct WorkerCapabilities: Hashable, Sendable {
    /// Schemes of URLs that are fetched.
    public var schemes: Set<String>?
    /// Names of formats that are decoded.
    public var formatsIn: Set<String>?
    /// Names of formats that are encoded.
    public var formatsOut: Set<String>?
    /// Names of the steps of a transformation, custom ones among them.
    public var steps: Set<String>?

    /// Entries of one list at most.
    public static let entriesMax = 64
    /// Bytes of one entry at most.
    public static let entryBytesMax = 64

    /// Everything.
    public static let all = WorkerCapabilities()

    /// What the lists name.
    public init(
        schemes: Set<String>? = nil, formatsIn: Set<String>? = nil,
        formatsOut: Set<String>? = nil, steps: Set<String>? = nil
    ) {
        self.schemes = schemes
        self.formatsIn = formatsIn
        self.formatsOut = formatsOut
        self.steps = steps
    }

    /// Whether a list may have that entry: a letter or digit, then also `.`, `_`, `+` and `-`.
    public static func isEntry(_ text: String) -> Bool {
        guard (1...entryBytesMax).contains(text.utf8.count), let head = text.utf8.first,
            isLetterOrDigit(head)
        else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || "._+-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// The first entry of the lists of that kind that `other` does not have, or the name of a list
    /// that is everything here and not there; `nil` where `other` can do all of it.
    public func firstMissing(in other: WorkerCapabilities, for kind: WorkerKind) -> String? {
        let lists: [(String, Set<String>?, Set<String>?)] =
            switch kind {
            case .download: [("all schemes", schemes, other.schemes)]
            case .decode: [("all formats", formatsIn, other.formatsIn)]
            case .transform:
                [("all formats", formatsOut, other.formatsOut), ("all steps", steps, other.steps)]
            case .cache, .coordinator: []
            }
        for (name, own, others) in lists {
            guard let others else { continue }
            guard let own else { return name }
            if let missing = own.subtracting(others).min() { return missing }
        }
        return nil
    }

    /// Entries that `other` does not have, in order: of use only where both name their lists.
    public func excess(over other: WorkerCapabilities) -> [String] {
        [
            (schemes, other.schemes), (formatsIn, other.formatsIn),
            (formatsOut, other.formatsOut), (steps, other.steps),
        ].flatMap { own, others in
            guard let own, let others else { return [String]() }
            return own.subtracting(others).sorted()
        }
    }

    /// Whether bytes of that format are decoded. What no signature tells has a name as well: it is
    /// given to whoever is granted that, or all formats.
    public func decodes(_ format: ImageFormat?) -> Bool {
        formatsIn?.contains((format ?? .undefined).name) ?? true
    }
}
