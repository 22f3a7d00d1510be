import Linux
public import Messages
public import Observability
import Seccomp

/// Closes the listeners that a worker does not need, from inside, before its first job.
public enum Sandbox {
    /// Enters the profile and returns the layers that hold from now on, for good.
    ///
    /// Call it while the process has one thread, after all libraries have loaded what they load
    /// late: Landlock holds for the calling thread and those that it starts. A layer that this
    /// kernel or this container engine does not give costs one warning, never the worker.
    public static func enter(_ profile: SandboxProfile, log: Log) -> SandboxLayers {
        if CurrentProcess.hasSanitizer {
            log.warning("there is no sandbox: a sanitizer opens files and traces at the end")
            return []
        }
        var entered: SandboxLayers = []
        for (layer, enter) in steps {
            do {
                try enter(profile, log)
                entered.insert(layer)
            } catch {
                log.warning(
                    "a layer of the sandbox is missing",
                    [
                        "layer": .string(layer.names.joined(separator: ",")),
                        "error": .string("\(error)"),
                    ])
            }
        }
        return entered
    }

    private typealias Step = @Sendable (SandboxProfile, Log) throws -> Void

    /// The filter comes last: it forbids to set up the others.
    private static let steps: [(SandboxLayers, Step)] = [
        (.noNewPrivileges, { _, _ in try CurrentProcess.refuseNewPrivileges() }),
        (.resourceLimits, { profile, _ in try limit(profile) }),
        (.landlock, { profile, log in try restrictFiles(profile, log) }),
        (
            .seccomp,
            { profile, _ in
                try SystemCalls.filter(
                    process: CurrentProcess.processID, readsFonts: !profile.fonts.isEmpty,
                    accepts: profile.accepts
                ).load()
            }
        ),
    ]

    /// No limit of address space: what is mapped for reading counts there, up to an arena of each
    /// producer. The limit of data is below what a unit or container may have: an allocation fails,
    /// which names the job, before the kernel kills the process, which does not.
    private static func limit(_ profile: SandboxProfile) throws(Errno) {
        // Else a file that grows too large would end the process; this way the write fails.
        try Signal.fileTooLarge.ignore()
        try ResourceLimit.lower(.coreFile, to: 0)
        try ResourceLimit.lower(.fileSize, to: profile.fileBytesMax)
        try ResourceLimit.lower(.descriptors, to: profile.descriptorsMax)
        try ResourceLimit.lower(.threadsOfUser, to: SandboxProfile.threadsOfUserMax)
        if let bytes = profile.memoryBytesMax {
            try ResourceLimit.lower(.data, to: bytes)
            // What the last image took is there for the next one.
            try CurrentProcess.mapBlocks(ofBytes: mappedBlockBytes)
        }
    }

    /// Buffers of a codec for a block of 256 by 256 pixels, and all that are larger.
    private static let mappedBlockBytes = 128 << 10

    private static func restrictFiles(
        _ profile: SandboxProfile, _ log: Log
    ) throws(Errno) {
        // Another thread would stay free, and could be made to work for this one.
        guard try CurrentProcess.threadCount() == 1 else { throw .deviceBusy }
        let rules = try LandlockRuleset()
        for path in profile.inputs {
            try allow([.readFile, .readDirectory], below: path, rules, log)
        }
        for path in profile.own {
            try allow(
                [.readFile, .writeFile, .readDirectory, .makeFile, .removeFile], below: path, rules,
                log)
        }
        for path in profile.fonts { try allowWhatIsThere(below: path, rules) }
        try rules.restrict()
    }

    private static func allowWhatIsThere(
        below path: String, _ rules: borrowing LandlockRuleset
    ) throws(Errno) {
        do {
            try rules.allow([.readFile, .readDirectory], below: FileDescriptor.openDirectory(path))
        } catch .noSuchFile {
            return
        }
    }

    /// A rule needs a directory that exists. One that is made later is met by a rule for the one
    /// that holds it, `arena/` at most, until the next start of the worker: waiting could last for
    /// ever where a stack has no such producer.
    private static func allow(
        _ access: LandlockAccess, below path: String, _ rules: borrowing LandlockRuleset,
        _ log: Log
    ) throws(Errno) {
        do {
            try rules.allow(access, below: FileDescriptor.openDirectory(path))
        } catch .noSuchFile {
            let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            try rules.allow(access, below: FileDescriptor.openDirectory(parent))
            log.warning(
                "a directory is not there yet: the one that holds it is open to the worker",
                ["missing": .string(path), "open": .string(parent)])
        }
    }
}
