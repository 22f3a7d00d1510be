import CLinux

extension FileDescriptor {
    /// The names in this directory without `.` and `..`, in the file system's own order.
    ///
    /// Moves the descriptor's offset, so that a second call goes on where the first ended: open the
    /// directory anew to list it again. Throws `Errno.fileTooLarge` beyond `entriesMax` names.
    /// Names that are not UTF-8 are left out: nothing here ever makes one.
    public borrowing func entries(entriesMax: Int = 1_000_000) throws(Errno) -> [String] {
        let number = number
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 8)
        defer { buffer.deallocate() }
        var names: [String] = []
        while true {
            let filled = try syscall {
                clinux_getdents(number, buffer.baseAddress, buffer.count)
            }
            if filled == 0 { return names }
            Self.appendNames(in: UnsafeRawBufferPointer(rebasing: buffer[..<Int(filled)]), &names)
            if names.count > entriesMax { throw .fileTooLarge }
        }
    }

    /// Reads `linux_dirent64` records: inode 8, offset 8, length 2, type 1, name up to a zero.
    private static func appendNames(in records: UnsafeRawBufferPointer, _ names: inout [String]) {
        var start = 0
        while start + 19 < records.count {
            let length = Int(records.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self))
            let name = records[(start + 19)..<(start + length)].prefix { $0 != 0 }
            start += length
            if let text = String(validating: name, as: UTF8.self), text != ".", text != ".." {
                names.append(text)
            }
        }
    }
}
