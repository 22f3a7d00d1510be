import CLinux

extension FileDescriptor {
    /// Reserves bytes 0 ..< `count`, so that a write through a mapping cannot fail later.
    ///
    /// Throws `Errno.noSpace` on a full file system (a write to memory would be SIGBUS there),
    /// `Errno.fileTooLarge` beyond RLIMIT_FSIZE. What was reserved before the failure may stay
    /// with the file: unlink it.
    public borrowing func reserve(byteCount count: Int) throws(Errno) {
        let number = number
        try syscall { clinux_fallocate(number, 0, Int64(count)) }
    }

    /// Bytes and metadata are on the disk when this returns.
    public borrowing func synchronize() throws(Errno) {
        let number = number
        try syscall { clinux_fsync(number) }
    }

    /// Bytes, and what is needed to find them, are on the disk when this returns.
    public borrowing func synchronizeData() throws(Errno) {
        let number = number
        try syscall { clinux_fdatasync(number) }
    }
}
