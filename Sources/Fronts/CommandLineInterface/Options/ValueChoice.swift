/// What a value on the command line may be, for shells that complete it.
package enum ValueChoice: Hashable, Sendable {
    /// Anything.
    case free
    /// One of these. Behind one that ends in `=` more is to come.
    case words([String])
    /// Some of these, with commas between them.
    case list([String])
    case file
    case directory

    /// What the word for a value in the help says: `FILE`, `DIR`, or words in small letters as
    /// `h|v|hv`.
    init(placeholder: String) {
        let words = placeholder.split(separator: "|").map(String.init)
        let isOfWords = words.count > 1 && words.allSatisfy { $0.allSatisfy(\.isLowercase) }
        switch placeholder {
        case "FILE": self = .file
        case "DIR", "DIRECTORY": self = .directory
        default: self = isOfWords ? .words(words) : .free
        }
    }

    /// The words of a closed set; empty for others.
    package var offered: [String] {
        switch self {
        case .words(let words), .list(let words): words
        case .free, .file, .directory: []
        }
    }
}
