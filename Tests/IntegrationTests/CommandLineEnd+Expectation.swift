extension CommandLineEnd {
    /// Expects this exit status, and these texts on standard error.
    @discardableResult
    func expect(
        _ status: Int32, _ texts: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) -> CommandLineEnd {
        #expect(exitStatus == status, "\(self)", sourceLocation: sourceLocation)
        for text in texts {
            #expect(errorText.contains(text), "\(self)", sourceLocation: sourceLocation)
        }
        return self
    }
}
