extension String {
    /// Whether it has such a byte of UTF-8; texts of keys and URLs are looked through as memory.
    func hasByte(where isMeant: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(where: isMeant) }
            ?? utf8.contains(where: isMeant)
    }
}
