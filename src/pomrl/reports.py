"""Names for authors of commands: the terminal, and the folder of outputs: `from pomrl.reports import outputs`."""

from pomrl.commands.terminal import WIDTH as WIDTH
from pomrl.commands.terminal import print_frame as print_frame
from pomrl.commands.terminal import printable as printable
from pomrl.commands.terminal import warn as warn
from pomrl.outputs import outputs as outputs
from pomrl.store.files import write as write
