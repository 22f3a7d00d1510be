import Testing

@testable import ProcessRuntime

@Suite struct WorkerAbilitiesTests {
    @Test func librariesAreFoundAmongWhatIsMapped() {
        let maps = """
            7f00-7f01 r--p 00000000 08:01 1 /usr/lib/x86_64-linux-gnu/libvips.so.42.16.1
            7f01-7f02 r-xp 00000000 08:01 1 /usr/lib/x86_64-linux-gnu/libvips.so.42.16.1
            7f02-7f03 r--p 00000000 08:01 2 /usr/lib/x86_64-linux-gnu/libc.so.6
            7f03-7f04 r--p 00000000 08:01 3 /opt/libheif.so.1.15.1
            7f04-7f05 rw-p 00000000 00:00 0
            7f05-7f06 r--p 00000000 08:01 4 /usr/lib/libvipsy.so.1
            """
        let found = LoadedLibraries.among(maps).map { "\($0.name) \($0.version)" }
        #expect(found == ["heif 1.15.1", "vips 42.16.1"])
    }

    @Test func eachThingHasALine() {
        var abilities = WorkerAbilities()
        (abilities.reads, abilities.writes) = (["jpeg", "png"], ["webp"])
        abilities.missing = ["svg: no fonts"]
        #expect(
            abilities.text(libraries: [("zmq", "5.2.4")])
                == "reads jpeg\nreads png\nwrites webp\nlacks svg: no fonts\nlibrary zmq 5.2.4\n")
    }
}
