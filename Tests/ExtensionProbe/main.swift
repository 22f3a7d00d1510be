import ImagebusWorker
import Linux

// extension-probe coder BEGUN|book|transformer|loader BEGUN IMAGE|cache FOLDER …: all other
// arguments are passed to the SDK.
let words = Array(CommandLine.arguments.dropFirst())

func word(_ index: Int) -> String { index < words.count ? words[index] : "" }

switch words.first {
case "coder": ImagebusWorker.run(ProbeCoder(begun: word(1)), arguments: Array(words.dropFirst(2)))
case "book": ImagebusWorker.run(ProbeBook(), arguments: Array(words.dropFirst()))
case "transformer": ImagebusWorker.run(ProbeTransformer(), arguments: Array(words.dropFirst()))
case "loader":
    ImagebusWorker.run(
        ProbeLoader(begun: word(1), image: word(2)), arguments: Array(words.dropFirst(3)))
case "cache": ImagebusWorker.run(ProbeCache(folder: word(1)), arguments: Array(words.dropFirst(2)))
default: CurrentProcess.end(64)
}
