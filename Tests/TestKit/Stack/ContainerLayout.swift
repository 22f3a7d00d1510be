/// The user of a container and the directories it sees: those of SEMANTICS §14.2, each owned by its
/// writer, with its readers as the group.
public struct ContainerLayout: Sendable {
    /// A directory that containers share.
    public struct Volume: Sendable {
        /// Relative to the runtime directory.
        public let path: String
        /// The owner, which writes.
        public let userID: UInt32
        /// The group, which reads.
        public let groupID: UInt32
        /// The mode; setgid unless nobody else reads the directory.
        public let mode: UInt32
    }

    /// A kind of worker, or `client`.
    public let name: String
    /// Its user and primary group.
    public let userID: UInt32
    /// Its supplementary groups.
    public let groups: [UInt32]
    /// The directories that it may write to.
    public let writes: [String]
    /// The directories that it may read.
    public let reads: [String]

    /// All shared directories.
    public static let volumes: [Volume] = [
        Volume(path: "front", userID: 4100, groupID: 4120, mode: 0o2750),
        Volume(path: "admin", userID: 4100, groupID: 4100, mode: 0o700),
        Volume(path: "back/download", userID: 4100, groupID: 4101, mode: 0o2750),
        Volume(path: "back/cache", userID: 4100, groupID: 4102, mode: 0o2750),
        Volume(path: "back/decode", userID: 4100, groupID: 4103, mode: 0o2750),
        Volume(path: "back/transform", userID: 4100, groupID: 4104, mode: 0o2750),
        Volume(path: "arena/coordinator", userID: 4100, groupID: 4110, mode: 0o2750),
        Volume(path: "arena/download", userID: 4101, groupID: 4111, mode: 0o2750),
        Volume(path: "arena/cache", userID: 4102, groupID: 4112, mode: 0o2750),
        Volume(path: "arena/decode", userID: 4103, groupID: 4113, mode: 0o2750),
        Volume(path: "arena/transform", userID: 4104, groupID: 4114, mode: 0o2750),
        Volume(path: "results", userID: 4102, groupID: 4120, mode: 0o2750),
    ]

    /// The container that binds all sockets.
    public static let coordinator = ContainerLayout(
        name: "coordinator", userID: 4100, groups: [4120],
        writes: [
            "front", "admin", "back/download", "back/cache", "back/decode", "back/transform",
            "arena/coordinator",
        ],
        reads: ["results"])
    /// The only container with a network.
    public static let download = ContainerLayout(
        name: "download", userID: 4101, groups: [], writes: ["back/download", "arena/download"],
        reads: [])
    /// Reads the output of all others.
    public static let cache = ContainerLayout(
        name: "cache", userID: 4102, groups: [4110, 4111, 4113, 4114],
        writes: ["back/cache", "arena/cache", "results"],
        reads: ["arena/coordinator", "arena/download", "arena/decode", "arena/transform"])
    /// Decodes bytes to pixels.
    public static let decode = ContainerLayout(
        name: "decode", userID: 4103, groups: [4110, 4111, 4112],
        writes: ["back/decode", "arena/decode"],
        reads: ["arena/coordinator", "arena/download", "arena/cache"])
    /// Encodes pixels to bytes.
    public static let transform = ContainerLayout(
        name: "transform", userID: 4104, groups: [4113],
        writes: ["back/transform", "arena/transform"], reads: ["arena/decode"])
    /// A client that loads images.
    public static let client = ContainerLayout(
        name: "client", userID: 4200, groups: [4120], writes: [], reads: ["front", "results"])

    /// The containers that run `serve`.
    public static let served = [coordinator, download, cache, decode, transform]
}
