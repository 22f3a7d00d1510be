import CLinux

extension FileDescriptor {
    /// Opens a relative path below this directory (openat2, Linux 5.6) that nothing leads out of:
    /// no `..`, no absolute link, no link of `/proc`.
    ///
    /// Links within it are followed, unless `followsLinks` says that none is, wherever in the path.
    ///
    /// Throws EXDEV for a path that would leave, ELOOP for too many links, or one, ENOSYS where the
    /// kernel does not have the call, EAGAIN where a directory was renamed meanwhile, and EINVAL
    /// for a path with a zero byte.
    public borrowing func openBeneath(
        _ path: String, _ options: OpenOptions = .readOnly, followsLinks: Bool = true
    ) throws(Errno) -> FileDescriptor {
        let number = number
        let path = try checked(path: path)
        return FileDescriptor(
            owning: try syscall {
                clinux_open_beneath(number, path, options.rawValue, followsLinks)
            })
    }
}
