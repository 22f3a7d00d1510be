package import Linux

/// Programs that are installed together.
package enum ProgramNeighbour {
    /// The path of a program beside this one.
    package static func path(_ name: String) throws(Errno) -> String {
        let own = try CurrentProcess.executablePath()
        return own[..<(own.lastIndex(of: "/") ?? own.startIndex)] + "/" + name
    }
}
