/// Writes values as JSON (jansson).
///
/// Written are objects, arrays, texts, booleans, integers of 64 bits with a sign, `Double`, null,
/// and whatever writes itself as one of these. A value that asks its encoder for nested containers
/// or for that of a superclass is refused: let it encode a value instead.
public enum JSONWriter {
    /// One line without a line feed, names in the order of their bytes. Numbers are as Swift
    /// describes them, whole ones without a point. Throws for what JSON does not have, such as
    /// infinity, and for what is not written here; the error names the value.
    public static func text(_ value: some Encodable) throws(JSONError) -> String {
        do {
            return try ValueEncoder.handle(of: value, at: []).text()
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError("\(error)")
        }
    }
}
