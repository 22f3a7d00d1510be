extension RealProcesses {
    /// `scripts/install` puts files where other programs look for them.
    @Suite struct InstallTests {
        @Test func manAndTheShellsFindWhatIsInstalled() throws {
            let folder = TemporaryDirectory()
            try Tool.run([
                "env", "IMAGEBUS_PROGRAMS=\(Programs.folder)",
                RepositoryRoot.file("scripts/install"), "--root", folder.path,
            ])
            let share = folder.file("usr/local/share")
            let page = try Tool.text(["man", "-M", "\(share)/man", "imagebus"])
            #expect(page.contains("IMAGEBUS(1)") && page.contains("EXIT STATUS"))
            let bash = "source $1/bash-completion/completions/imagebus; complete -p imagebus"
            let output = try Tool.text(["bash", "--norc", "-c", bash, "bash", share])
            #expect(output == "complete -F _imagebus imagebus\n")
            // fish looks there by default, for existing commands.
            let path = "PATH=\(folder.file("usr/local/bin")):/usr/bin:/bin"
            let offered = try Tool.run([
                "env", path, "XDG_DATA_DIRS=\(share):/usr/share", "HOME=\(folder.path)", "fish",
                "--command", "complete -C 'imagebus drain cache --js'",
            ])
            #expect(String(decoding: offered, as: UTF8.self).hasPrefix("--json\t"))
            let zsh = """
                fpath=($1/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D
                print ${_comps[imagebus]}
                """
            let owner = try Tool.run(["zsh", "-f", "-c", zsh, "zsh", share])
            #expect(String(decoding: owner, as: UTF8.self) == "_imagebus\n")
        }
    }
}
