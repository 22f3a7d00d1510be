/// The version of all programs and of the client library; they are released together.
public enum ProductVersion {
    /// Semantic version.
    public static let text = "0.1.0"
}
