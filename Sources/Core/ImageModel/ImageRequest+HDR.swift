extension ImageRequest {
    /// Makes output of the wish of its context for a high dynamic range, which then says nothing
    /// more. What is not encoded stays as it is: the source's bytes, and facts.
    package mutating func applyDecodeToHDR() {
        guard context.decodesToHDR else { return }
        context.decodesToHDR = false
        guard !infoOnly, !isPlain else { return }
        output.keepsHDR = true
    }
}
