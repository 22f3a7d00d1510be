public import ImageModel

extension ImageError {
    /// What a library says of its failure, for the detail `reason`: one line, of 200 characters at
    /// most.
    public static func reason(_ error: some Error) -> String {
        String("\(error)".prefix(200).map { $0.isNewline ? " " : $0 })
    }
}
