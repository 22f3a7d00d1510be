/// One value of a document, with where it begins. Scalars are texts: what they mean is for whoever
/// reads them.
public struct YAMLNode: Hashable, Sendable {
    /// What it is.
    public enum Content: Hashable, Sendable {
        /// A text, quoted or not.
        case scalar(String)
        /// Values in order.
        case list([YAMLNode])
        /// Keys with values in order; no key is there twice.
        case map([YAMLEntry])
    }

    /// What it is.
    public let content: Content
    /// Its line, from 1.
    public let line: Int
    /// Its column, from 1.
    public let column: Int

    /// A value at a place.
    public init(_ content: Content, line: Int, column: Int) {
        self.content = content
        self.line = line
        self.column = column
    }
}

/// A key of a map and its value.
public struct YAMLEntry: Hashable, Sendable {
    /// The key.
    public let key: String
    /// The line of the key, from 1.
    public let line: Int
    /// The column of the key, from 1.
    public let column: Int
    /// The value.
    public let value: YAMLNode

    /// A pair at a place.
    public init(key: String, line: Int, column: Int, value: YAMLNode) {
        self.key = key
        self.line = line
        self.column = column
        self.value = value
    }
}
