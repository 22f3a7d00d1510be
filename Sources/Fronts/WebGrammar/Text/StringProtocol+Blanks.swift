extension StringProtocol {
    /// Without blanks and tabs around it.
    package var trimmedOfBlanks: SubSequence {
        let blanks: Set<Character> = [" ", "\t"]
        let start = firstIndex { !blanks.contains($0) } ?? endIndex
        let end = lastIndex { !blanks.contains($0) }.map { index(after: $0) } ?? start
        return self[start..<Swift.max(start, end)]
    }
}
