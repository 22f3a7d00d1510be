import CommandLineInterface

extension ManualPage {
    /// That of this version.
    static var imagebus: ManualPage {
        ManualPage(
            Command.documented,
            summary: "load images: download, cache, decode, transform and encode them",
            statuses: ExitStatuses.rows.map { ("\($0.status)", "\($0.meaning)") },
            variables: variables, files: files)
    }

    /// Those that are of no option.
    private static let variables: [Row] = [
        ("IMAGEBUS_PROGRAMS", "the directory of the programs that serve starts (that of imagebus)"),
        ("XDG_RUNTIME_DIR", "holds the runtime directory of a user's stack"),
        ("XDG_CACHE_HOME, HOME", "hold the cache directory of a user's stack"),
        ("TRACEPARENT", "W3C Trace Context of whoever calls, for get"),
        ("TERM, KITTY_WINDOW_ID", "what the terminal can draw, for get --show"),
        ("NO_COLOR", "no colours, whatever it says, for doctor"),
    ]

    private static let files: [Row] = [
        (
            "$XDG_RUNTIME_DIR/imagebus, /run/imagebus, /dev/shm/imagebus-UID",
            "the runtime directory: sockets and shared memory, by --runtime-dir another one"
        ),
        (
            "$XDG_CACHE_HOME/imagebus, ~/.cache/imagebus",
            "the disk tier of the cache, by --cache-dir another one"
        ),
        ("/etc/imagebus/environment", "settings of the services of scripts/install"),
    ]
}
