import CLinux

extension FileDescriptor {
    /// Reads what is there, at most the buffer; 0 at the end of the file.
    public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        let number = number
        return Int(try syscall { clinux_read(number, buffer.baseAddress, buffer.count) })
    }

    /// Reads until the buffer is full or the file ends; returns how many bytes were read.
    public borrowing func readFully(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads from `offset` on without moving the file's own offset; 0 at the end.
    public borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        let number = number
        return Int(
            try syscall {
                clinux_pread(number, buffer.baseAddress, buffer.count, Int64(offset))
            })
    }

    /// Reads from `offset` on until the buffer is full or the file ends; returns the count.
    public borrowing func readFully(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        try Self.readFully(number, into: buffer, at: offset)
    }

    /// Writes some of the bytes; returns how many.
    public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
        let number = number
        return Int(try syscall { clinux_write(number, bytes.baseAddress, bytes.count) })
    }

    /// Writes all of the bytes, in as many calls as it takes.
    public borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try Self.writeAll(bytes, to: number)
    }

    /// Writes all of the bytes from `offset` on without moving the file's own offset.
    public borrowing func writeAll(
        _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(Errno) {
        try Self.writeAll(bytes, to: number, at: offset)
    }

    /// Writes all of the bytes to a descriptor that nobody here owns, for example 2 for the log.
    public static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32
    ) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += Int(try syscall { clinux_write(number, rest.baseAddress, rest.count) })
        }
    }

    /// Whether a write to a descriptor that nobody here owns would not wait now (poll): a pipe
    /// takes at least `PIPE_BUF` bytes then, as long as nobody else writes in between. Files always
    /// do; what is no descriptor never does.
    public static func hasRoom(_ number: Int32) -> Bool {
        ((try? syscall { clinux_poll(number, true, 0) }) ?? 0) > 0
    }

    static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32, at offset: Int
    ) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += Int(
                try syscall {
                    clinux_pwrite(number, rest.baseAddress, rest.count, Int64(offset + done))
                })
        }
    }

    static func readFully(
        _ number: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try syscall {
                clinux_pread(number, rest.baseAddress, rest.count, Int64(offset + done))
            }
            if count == 0 { break }
            done += Int(count)
        }
        return done
    }
}
