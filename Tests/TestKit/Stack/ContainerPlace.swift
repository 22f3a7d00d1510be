import Linux

/// The volumes of one stack of containers, and the isolation of each container: mount and PID
/// namespaces, and a user without capabilities.
public final class ContainerPlace {
    private let folder: Linux.TemporaryDirectory
    private let logs = TestKit.TemporaryDirectory()

    /// Why containers can't be created here; nil if they can.
    public static let obstacle: String? = {
        guard CurrentProcess.userID == 0 else { return "only root makes files of several users" }
        guard let place = try? ContainerPlace() else { return "no folder in /dev/shm" }
        let trial = place.run(["--version"], as: .client)
        guard let end = try? trial?.end(), end.exitStatus == 0 else {
            return "there are no namespaces for mounts and processes"
        }
        return nil
    }()

    /// Creates the volumes with their owners, groups and modes.
    public init() throws {
        folder = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
        try FileDescriptor.openDirectory(folder.path).setMode(0o755)
        for name in ["run", "programs", "volumes", "volumes/back", "volumes/arena"] {
            try make(name, userID: 0, groupID: 0, mode: 0o755)
        }
        for volume in ContainerLayout.volumes {
            try make(
                "volumes/\(volume.path)", userID: volume.userID, groupID: volume.groupID,
                mode: volume.mode)
        }
        try make("disk", userID: 4102, groupID: 4102, mode: 0o700)
    }

    /// The runtime directory as seen in each container.
    public var runtimeDirectory: String { "\(folder.path)/run" }

    /// A volume as seen by root outside the containers.
    public func volume(_ path: String) -> String { "\(folder.path)/volumes/\(path)" }

    /// Starts `imagebus serve` for a kind as process 1 of a container.
    public func serve(_ layout: ContainerLayout) throws -> Container {
        try Container(
            line: line(["serve"], as: layout), program: program,
            environment: environment(of: layout), layout, log: logs.file("\(layout.name).log"))
    }

    /// Starts a command in a container of its own; nil if it can't be started.
    public func run(_ arguments: [String], as layout: ContainerLayout) -> CommandLineRun? {
        try? CommandLineRun(
            line: line(arguments, as: layout), environment: environment(of: layout))
    }

    private func make(_ name: String, userID: UInt32, groupID: UInt32, mode: UInt32) throws {
        let path = "\(folder.path)/\(name)"
        try FileDescriptor.makeDirectory(path: path)
        let directory = try FileDescriptor.openDirectory(path)
        try directory.setOwner(userID: userID, groupID: groupID)
        try directory.setMode(mode)
    }

    /// The environment variables set in the images.
    private func environment(of layout: ContainerLayout) -> [String: String] {
        var variables = [
            "IMAGEBUS_RUNTIME_DIR": runtimeDirectory, "IMAGEBUS_CACHE_DIR": "\(folder.path)/disk",
            "IMAGEBUS_DOWNLOAD": "1", "IMAGEBUS_DECODE": "1", "IMAGEBUS_TRANSFORM": "1",
            "IMAGEBUS_ALLOW_PRIVATE_NETWORKS": "1",
        ]
        if layout.name != ContainerLayout.client.name { variables["IMAGEBUS_ONLY"] = layout.name }
        return variables
    }

    /// The path of `imagebus` as seen in containers. The build folder may be in directories that
    /// other users can't enter.
    private var program: String {
        "\(folder.path)/programs/\(TestedProgram.imagebus.rawValue)"
    }

    private func line(_ arguments: [String], as layout: ContainerLayout) throws -> [String] {
        let mounts = layout.writes.map { [$0, "rw"] } + layout.reads.map { [$0, "ro"] }
        _ = try Programs.path(.imagebus)
        return [
            "/usr/bin/unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
            "/bin/sh", "-c", Self.script, folder.path, "\(layout.userID)", Programs.folder,
        ] + mounts.flatMap { $0 } + ["--"] + layout.becoming
            + [program] + arguments
    }

    /// A private tmpfs with the volumes of this container and the programs; the root is read-only.
    private static let script = """
        set -e
        base=$0; user=$1; programs=$2; shift 2
        mount --bind "$programs" "$base/programs"
        mount -t tmpfs -o "uid=$user,gid=$user,mode=755,size=1m" tmpfs "$base/run"
        while [ "$1" != -- ]; do
            (umask 022; mkdir -p "$base/run/$1")
            mount --bind "$base/volumes/$1" "$base/run/$1"
            [ "$2" = rw ] || mount -o remount,bind,ro "$base/run/$1"
            shift 2
        done
        shift
        mount -o remount,bind,ro /
        exec "$@"
        """
}

extension ContainerLayout {
    /// The prefix of a command line that runs as this user.
    public var becoming: [String] {
        let groups = groups.map { "\($0)" }.joined(separator: ",")
        return [
            "/usr/bin/setpriv", "--reuid", "\(userID)", "--regid", "\(userID)",
            groups.isEmpty ? "--clear-groups" : "--groups=\(groups)", "--inh-caps=-all",
            "--bounding-set=-all", "--no-new-privs", "--",
        ]
    }
}
