/// What an origin says of keeping its answer (`Cache-Control`, RFC 9111 §5.2.2), as far as it is
/// obeyed.
public struct CacheControl: Hashable, Sendable {
    /// Nobody keeps it.
    public var forbidsStoring: Bool
    /// It is for who asked, and for nobody else.
    public var isPrivate: Bool

    /// Reads the field as it came. What stands in quotes is not told apart: whoever writes a
    /// directive there is taken at his word.
    public init(_ field: String?) {
        let names = (field ?? "").split(separator: ",").map { directive in
            let name = directive.prefix { $0 != "=" }
            return name.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        forbidsStoring = names.contains("no-store")
        isPrivate = names.contains("private")
    }

    /// What is obeyed of it, as a field again; nil where that is nothing.
    public var field: String? {
        let names = [forbidsStoring ? "no-store" : nil, isPrivate ? "private" : nil]
        let obeyed = names.compactMap { $0 }.joined(separator: ", ")
        return obeyed.isEmpty ? nil : obeyed
    }
}
