import Glibc
import Testing

@Suite struct LinkTests {
    @Test(arguments: LinkRules.allowed.keys.sorted())
    func programLinksOnlyWhatItsListHas(program: String) throws {
        for folder in try Self.foldersOfPrograms() {
            let path = folder + "/" + program
            let readelf = try #require(Command.run(["readelf", "--dynamic", "--wide", path]))
            guard readelf.status == 0 else {
                Issue.record("\(path): not built? \(readelf.output)")
                continue
            }
            for finding in LinkRules.findings(program: program, readelf: readelf.output) {
                Issue.record("\(folder): \(finding)")
            }
        }
    }

    /// The folder of the build that contains this test, and that of the programs built by
    /// `scripts/build` if the environment names it.
    private static func foldersOfPrograms() throws -> [String] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(
            decoding: buffer.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let end = try #require(own.lastIndex(of: "/"))
        var folders = [String(own[..<end])]
        if let named = getenv("IMAGEBUS_PROGRAMS") { folders.append(String(cString: named)) }
        return folders
    }

    // MARK: - Tests of the rules

    private func readelf(_ libraries: [String]) -> String {
        let lines = libraries.map {
            " 0x0000000000000001 (NEEDED)             Shared library: [\($0)]"
        }
        return "\nDynamic section at offset 0x1d8 contains 31 entries:\n"
            + "  Tag        Type                         Name/Value\n"
            + lines.joined(separator: "\n")
            + "\n 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN]\n"
    }

    @Test func neededLibrariesAreReadFromReadelf() {
        #expect(
            NeededLibraries.names(inReadelf: readelf(["libzmq.so.5", "libc.so.6"]))
                == ["libzmq.so.5", "libc.so.6"])
    }

    @Test func theListOfAProgramIsAccepted() {
        let text = readelf([
            "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2",
            "libswiftCore.so", "libswift_Concurrency.so", "libzmq.so.5", "libprotobuf-c.so.1",
            "libsqlite3.so.0", "libxxhash.so.0",
        ])
        #expect(LinkRules.findings(program: "imagebus-cache", readelf: text) == [])
    }

    @Test(arguments: [
        ("imagebus-coordinator", "libvips.so.42"),
        ("imagebus-coordinator", "libcurl.so.4"),
        ("imagebus-coordinator", "libsqlite3.so.0"),
        ("imagebus-coordinator", "libFoundationEssentials.so"),
        ("imagebus-download", "libvips.so.42"),
        ("imagebus-coordinator", "libjansson.so.4"),
        ("imagebus-download", "libyaml-0.so.2"),
        ("imagebus-cache", "libcurl.so.4"),
        ("imagebus-decode", "libcurl.so.4"),
        ("imagebus-transform", "libsodium.so.23"),
        ("imagebus-download", "libseccomp.so.2"),
        ("imagebus", "libvips.so.42"),
        ("imagebus", "libmicrohttpd.so.12"),
        ("imagebus", "libFoundation.so"),
        ("imagebus", "libFoundationEssentials.so"),
        ("imagebus", "strange.so"),
    ])
    func aForeignLibraryIsFound(program: String, library: String) {
        let found = LinkRules.findings(program: program, readelf: readelf(["libc.so.6", library]))
        #expect(found.map(\.rule) == ["links \(library)"])
    }

    @Test func outputThatIsNotReadelfsIsFound() {
        #expect(LinkRules.findings(program: "imagebus", readelf: "not an ELF file").count == 1)
    }
}
